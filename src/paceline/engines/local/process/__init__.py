"""What runs in processes of its own: the supervisor, and the workers that it forks.

It uses the standard library alone, for two reasons: workers are forked from the supervisor in a
millisecond because it is small, and they set their limits on threads before anything like numpy is
imported. So nothing here imports paceline, and the driver runs the folder as a program
(`__main__.py`), with a socket for the orders.

Nothing is left behind. The supervisor and every worker are subreapers: whatever a pull starts,
however often it forks, stays a descendant of its worker, and is found and killed there. When the
driver is gone, killed or not, the socket closes and the supervisor ends everything.

The driver sends the supervisor, in JSON, `{"spawn": number, "cores": …, "path": …}`, with the
worker's files, or `{"kill": number}`; the supervisor answers `{"ended": number, "status": …}`.

A worker is sent one job at a time, pickled: its processors, the kind of work and the work itself.
It answers with any of these, pickled:

- `("began",)`: everything is loaded, and its first job begins;
- `("values", values, seconds)`: the next pulls are done, and more will come;
- `("finished", values, seconds)`: the last pulls of the job are done;
- `("ran", seconds)`: the command has ended well, and its value is in what it left;
- `("failed", values, seconds, trouble)`: the pull after these went wrong, and the job is over.
"""
