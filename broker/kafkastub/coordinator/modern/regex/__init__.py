"""Regular expressions of RE2/J, matched with names of topics in time that is linear in their length.

Names of topics are ASCII, so a class of characters is a number of 128 bits, and `\\p{L}` costs as much as `a`.
"""
