const route = (path, handler) => ({ method: 'GET', path, handler, config: { auth: false } })

module.exports = {
  type: 'content-api',
  routes: [
    route('/orders/:id', 'order.find'),
    route('/fails/:id', 'order.fails'),
    route('/refuses/:id', 'order.refuses'),
    route('/throws/:id', 'order.throws'),
  ],
}
