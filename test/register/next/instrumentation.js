// As docs/frameworks.md has it.

export const onRequestError = (error) => globalThis.recordNextError?.(error)
