// A route handler that throws for one id.

export async function GET(_request, { params }) {
  const { id } = await params
  if (id === 'bad') throw new TypeError('no such id')
  return Response.json({ id })
}
