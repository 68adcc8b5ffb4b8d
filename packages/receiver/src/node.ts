// The parts of the receiver that need Node.js.
export { toNodeHandler } from './node-handler.ts'
export type { NodeHandler } from './node-handler.ts'
export { createFileJtiStore } from './file-jti-store.ts'
export type { FileJtiStore } from './file-jti-store.ts'
