'use strict'
// Loaded before an application of a story, so that none outlives the story: it ends when its channel to the
// story closes. The workers of a cluster end with their primary by themselves.

const cluster = require('node:cluster')

if (cluster.isPrimary && process.channel !== undefined) {
  process.on('disconnect', () => process.exit())
  // The application ends, or does not, as without the channel.
  process.channel.unref()
}
