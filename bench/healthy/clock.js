'use strict'
// The clock that all processes of a run of bench/healthy share: milliseconds of the system's monotonic clock.
// The wall clock jumps if a virtual machine is paused, and a load that was to end by then would send nothing.

const clockMs = () => Number(process.hrtime.bigint()) / 1e6

module.exports = { clockMs }
