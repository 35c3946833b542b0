// Require or import 'spillway/async-errors'. It does what `catchAsync(express)` does, to the
// `express` that the program finds. It exports nothing.

export {}
