// CommonJS with `verbatimModuleSyntax`: what is written is what runs, so the package is required.

import spillwayPackage = require('spillway')

const spillway: spillwayPackage.Spillway = spillwayPackage.createSpillway({ logger: false })
const last: spillwayPackage.ExpressErrorHandler = spillway.errorHandler()
last(new Error('never called'), {} as spillwayPackage.Request, {} as spillwayPackage.Response, () => {})

export = spillway
