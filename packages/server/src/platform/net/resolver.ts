/** Name resolution as the guarded client needs it: every address of a name, in the system's order. */
import { lookup } from 'node:dns/promises'

/** Answers all addresses of a host name; rejects with the `code` of `node:dns` (`ENOTFOUND`, `EAI_AGAIN`). */
export type Resolver = (hostname: string) => Promise<readonly string[]>

/** The resolver of the operating system (`getaddrinfo`), so that `/etc/hosts` counts too. */
export const systemResolver: Resolver = async (hostname) => {
  const answers = await lookup(hostname, { all: true, order: 'verbatim' })
  return answers.map((answer) => answer.address)
}
