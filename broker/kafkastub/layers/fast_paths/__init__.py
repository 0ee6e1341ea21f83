"""From the frame to the answer's bytes, past decoder, handler and encoder: for requests that come every day.

A fast path is open as long as nobody has put anything between a route and the handler that it passes by: a quota, or a
wait for the disk, closes it. Some learn from the careful way, whose answers they give again (`remembered`). Where there
is an authorizer there is none: who asks is not looked at, and some handlers ask by themselves what the principal may
do.
"""
