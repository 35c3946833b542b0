// An API route that throws.

export default function fails() {
  throw new SyntaxError('no')
}
