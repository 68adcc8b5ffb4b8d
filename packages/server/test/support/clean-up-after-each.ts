import { afterEach } from 'vitest'
import { CleanupStack } from '../../src/platform/cleanup-stack.ts'

/** What a test adds is undone when it has ended, the last first. */
export function cleanUpAfterEach(): Pick<CleanupStack, 'add'> {
  let stack = new CleanupStack()
  afterEach(async () => {
    const ended = stack
    stack = new CleanupStack()
    await ended.run()
  })
  return { add: (step) => stack.add(step) }
}
