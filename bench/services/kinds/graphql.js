'use strict'
// A GraphQL server by graphql-http, with resolvers that await.

const { peer } = require('../../support/peers')
const { HttpLoad } = require('../load')

const RATE = 600
const QUERY = '{ posts(first: 20) { id title author { id name } comments { id text } } }'
const SCHEMA = `
  type Author { id: ID! name: String! }
  type Comment { id: ID! text: String! }
  type Post { id: ID! title: String! author: Author! comments: [Comment!]! }
  type Query { posts(first: Int!): [Post!]! }
`

const postOf = (id) => ({
  id,
  title: `post ${id}`,
  author: async () => ({ id: id % 5, name: `author ${id % 5}` }),
  comments: async () => [0, 1, 2].map((each) => ({ id: `${id}-${each}`, text: 'a comment' })),
})

module.exports = {
  name: 'graphql',
  title: 'GraphQL, graphql-http',
  unit: 'request',
  framework: 'express',
  serve(app) {
    const { createHandler } = peer('graphql-http/lib/use/express')
    const rootValue = { posts: async ({ first }) => Array.from({ length: first }, (_, id) => postOf(id)) }
    app.all('/graphql', createHandler({ schema: peer('graphql').buildSchema(SCHEMA), rootValue }))
  },
  load: (port) =>
    new HttpLoad(port, {
      rate: RATE,
      path: '/graphql',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: QUERY }),
    }),
}
