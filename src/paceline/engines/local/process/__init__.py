"""What runs in processes of its own: the supervisor, templates, and the workers with their keepers.

It uses the standard library alone, for two reasons: processes are forked from the supervisor in a
few milliseconds because it is small, and they set their limits on threads before anything like
numpy is imported. So nothing here imports paceline, and the driver runs the folder as a program
(`__main__.py`), with a socket for the orders.

A template is forked from the supervisor, loads the user's function and arms, and becomes a
supervisor itself (`template.py`), if that is safe (`forking.py`): its workers share all of it. Else
workers are forked from the supervisor and load by themselves (`sharing.py` decides).

Nothing is left behind. The driver starts the supervisor. This one, or a template, forks a keeper
for every worker, which forks the worker. The keeper is a subreaper: whatever a pull starts, however
often it forks, stays below the keeper, and is reaped, found and killed there when the worker ends.
The supervisor, templates and keepers notice when one above them is gone, killed or not, and end
everything below. A pull that kills its keeper ends only its own worker: the supervisor or template,
a subreaper too, ends the rest. If a template is killed, its keepers end its workers, and the
supervisor starts another one.

The driver sends the supervisor, in JSON, `{"spawn": number, "cores": …, "path": …, "share": …}`,
with the worker's files, or `{"kill": number}`. What concerns the workers of a template is passed on
to it. The answers are `{"ended": number, "status": …, "why": …, "text": …}`, and `{"over": true}`
when all is ended.

A worker is sent one job at a time, pickled: its number, its processors, the kind of work and the
work itself (`orders.py`). The driver is trusted, but what comes from a worker is not, for pulls run
there. So the answers are plain numbers and texts (`messages.py`), which the driver checks:

- `began`: everything is loaded, and its first job begins;
- `values`: the next pulls are done, and more will come;
- `finished`: the last pulls of the job are done;
- `failed`: the pull after these values went wrong, and the job is over.

A worker that sends anything else is ended, and its pull has failed.
"""
