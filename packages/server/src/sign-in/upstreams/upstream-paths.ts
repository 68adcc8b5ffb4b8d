/** Where an upstream provider sends browsers back to, below the base URL. */
export const UPSTREAM_CALLBACK_PATH = '/sign-in/upstream/callback'
