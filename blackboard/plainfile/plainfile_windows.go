package plainfile

const nonblock = 0
