// The parts of the receiver that need Node.js.
export { toNodeHandler } from './node-handler.ts'
export type { NodeHandler } from './node-handler.ts'
export { createFileJtiStore } from './file-jti-store.ts'
export type { FileJtiStore } from './file-jti-store.ts'
export { createFileComplianceStore } from './compliance/file-compliance-store.ts'
export type { FileComplianceStore } from './compliance/file-compliance-store.ts'
