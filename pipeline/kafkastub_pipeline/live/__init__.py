"""Tables of the present that follow the log, and alerts: what `stream --tables` does beside decoding.

newest.py    of each key of the log its newest record, kept in files from batch to batch
tables.py    the tables, made of these records again and again
alerts.py    what is to be looked at now, found in the tables
log.py       alerts as rows: raised once, cleared once
follow.py    the loop
"""
