_convlab.__prefix__:
    \from convlab.values import Value
