"""In front of a real cluster: its bytes pass through, and meet faults, holds, chaos, the journal and the metrics.

    naming     which answers name brokers, and the same answers with the proxy's addresses
    walking    finding the end of a long answer while it passes, without keeping it
    routes     what is done about one version of one API
    places     a node of the cluster is a place here: an address that clients are told, and where it really is
    pair       a client's connection and the one to the broker behind it: cut into frames, and passed on
    under_way  a request between the two, and what those who meddle with it need of each other
    acting     what a fault makes of a request
    sessions   what fetch sessions ask for without naming it
    watching   the seam of journal, metrics, faults and chaos
    chaos      what moves because of chaos: connections, for leaders are the cluster's
    upstream   how the cluster is reached: TLS, and who the proxy is where it asks for itself
    cluster    what the proxy itself asks the cluster
    proxy      all of it together

Frames are bytes that pass. Decoded are requests that a rule asks for, and answers that metrics count; rewritten are
answers that name brokers.
"""
