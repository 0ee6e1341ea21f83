"""The control port of a proxy in front of a real cluster: the routes of a broker's that it has, and those that ask.

hosted     the proxy behind the port
app        which routes there are
asking     topics, records and groups: the cluster is asked, in threads
looking    how much there is, the nodes, whether all is well
refusing   what only a stub can do
"""
