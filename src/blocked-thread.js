'use strict'
// Runs in the thread of features/stalls that watches the loop. While the loop is blocked, this thread serves
// the pages of features/admin: `listen({ blockedPort })`.

const { serveBlocked } = require('./features/admin/blocked-pages')
const { watch } = require('./features/stalls/stall-watcher-thread')

watch.serve(serveBlocked)
