const { errors } = require('@strapi/utils')

module.exports = {
  find(ctx) {
    ctx.body = { id: ctx.params.id }
  },
  fails() {
    throw new TypeError('no orders')
  },
  refuses() {
    throw new errors.ApplicationError('not yours')
  },
  throws(ctx) {
    ctx.throw(404, 'no such order')
  },
}
