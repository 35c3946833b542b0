// require('spillway/async-errors'), or import it, before the routers: what `catchAsync(express)` does, to the
// `express` that the program finds. It gives nothing.

export {}
