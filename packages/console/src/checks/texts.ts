/* The texts of checks. */
export const texts = {
  strategies: {
    block_immediately: 'Block at once',
    warn_then_block: 'Warn, then block',
    notify_only: 'Notify only',
    report_only: 'Report only',
  },
} as const
