/*
 * Statements that would change any number of rows, in steps of bounded size: the server and the connection break off
 * what takes too long.
 */

/** Few enough that a step ends long before a statement is broken off, and many enough that the steps cost little. */
export const STEP_ROWS = 1_000

/** Runs `step` from the greatest id of the step before, until one answers that it has found nothing. */
export async function inStepsById(
  step: (afterId: string) => Promise<string | null | undefined>,
): Promise<void> {
  let afterId: string | null | undefined = '0'
  while (typeof afterId === 'string') afterId = await step(afterId)
}
