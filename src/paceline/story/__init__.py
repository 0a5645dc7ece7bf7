"""What is known of a race, under way or ended: frozen values, for whoever tells of it."""
