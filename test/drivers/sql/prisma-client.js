// What `prisma generate` of Prisma 7 writes for the schema below, by its generator `prisma-client`, without its
// types, so that the command line of Prisma is not installed for it.

const { Buffer } = require('node:buffer')
const { getPrismaClient } = require('@prisma/client/runtime/client')

const SCHEMA = `
datasource db {
  provider = "postgresql"
}

generator client {
  provider = "prisma-client"
}

model Order {
  id Int @id

  @@map("orders")
}
`

/** @type {any} */
const config = {
  previewFeatures: [],
  clientVersion: require('@prisma/client/package.json').version,
  engineVersion: 'none',
  activeProvider: 'postgresql',
  inlineSchema: SCHEMA,
  runtimeDataModel: {
    models: { Order: { dbName: 'orders', fields: [{ name: 'id', kind: 'scalar', type: 'Int' }] } },
    enums: {},
    types: {},
  },
  // An empty graph: no query here has a value.
  parameterizationSchema: { strings: [], graph: 'AAAA' },
  compilerWasm: {
    getRuntime: async () => require('@prisma/client/runtime/query_compiler_small_bg.postgresql.js'),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = require('@prisma/client/runtime/query_compiler_small_bg.postgresql.wasm-base64.js')
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
    },
    importName: './query_compiler_small_bg.js',
  },
}

exports.PrismaClient = getPrismaClient(config)
