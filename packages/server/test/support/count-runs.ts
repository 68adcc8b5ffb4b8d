/** How often a property is tried: `HELIOGRAPH_TEST_RUNS` says it for a long run. */
export function countRuns(usual: number): number {
  return Number(process.env['HELIOGRAPH_TEST_RUNS'] ?? usual)
}
