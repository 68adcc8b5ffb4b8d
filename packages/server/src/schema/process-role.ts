/** The roles that one process can play: it serves the API, the agents, or works in the background. */
export const PROCESS_ROLES = ['api', 'agents', 'worker'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]
