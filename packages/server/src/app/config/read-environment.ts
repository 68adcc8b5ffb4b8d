/** The environment variables of this process. The only place that reads them. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env
}
