// A page that is made on the server for each request.

import { createElement } from 'react'

export default function User({ id }) {
  return createElement('p', null, `User ${id}`)
}

export const getServerSideProps = async ({ params }) => ({ props: { id: params.id } })
