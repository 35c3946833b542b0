'use strict'
// The thread of features/stalls that watches the loop, with the pages of features/admin that answer while it
// is blocked: `listen({ blockedPort })`.

const { serveBlocked } = require('./features/admin/blocked-pages')
const { watch } = require('./features/stalls/stall-watcher-thread')

watch.serve(serveBlocked)
