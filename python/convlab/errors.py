"""The exception that convlab raises."""


class Error(RuntimeError):
    """The only exception of convlab. Its text says what is wrong, where, and what to do.

    status: 2: a model, an array or an option is wrong; 3: the requested device or kernel is not available; 4: any
    other error: out of memory, or a bug in convlab.
    """

    def __init__(self, text: str, status: int = 2):
        super().__init__(text)
        self.status = status
