'use strict'
// Fills the heap of a service with live objects, each of which every major garbage collection has to mark.

const ITEMS_AT_ONCE = 10_000

const itemOf = (id) => ({
  id,
  name: `product ${id}`,
  tags: [`tag ${id % 10}`, 'product'],
  price: { cents: id },
})

/**
 * @param {number} bytes how large the whole heap is afterwards
 * @returns {any[][]} blocks of products
 */
function fillHeap(bytes) {
  const blocks = []
  while (process.memoryUsage().heapUsed < bytes) {
    blocks.push(Array.from({ length: ITEMS_AT_ONCE }, (_, i) => itemOf(blocks.length * ITEMS_AT_ONCE + i)))
  }
  return blocks
}

/** What an application of some size keeps: its code, its routes, its caches. */
const APPLICATION_BYTES = 50e6

/** @param {import('../services').Service} service @returns {import('../services').Service} */
const withApplicationHeap = (service) => ({
  ...service,
  name: `${service.name}-heap`,
  title: `${service.title}; the application keeps 50 MB of heap`,
  serve(app, given) {
    app.locals.kept = fillHeap(APPLICATION_BYTES)
    return service.serve(app, given)
  },
})

module.exports = { fillHeap, withApplicationHeap }
