"""What convlab raises."""


class Error(RuntimeError):
    """What is wrong, where, and what to do.

    status: 2: a model, an array or an option is wrong; 3: the device or kernel that was asked for is not there; 4:
    anything else, a defect of convlab or no memory.
    """

    def __init__(self, text: str, status: int = 2):
        super().__init__(text)
        self.status = status
