import { commandGroup, type CommandDefinition } from '../command.ts'
import { SIGN_IN_APPLICATION_COMMANDS } from './sign-in-application-commands.ts'
import { SIGN_IN_POLICY_COMMANDS } from './sign-in-policy-commands.ts'
import { SIGN_IN_SESSION_COMMANDS } from './sign-in-session-commands.ts'
import { SIGN_IN_UPSTREAM_COMMANDS } from './sign-in-upstream-commands.ts'

/** `heliograph sign-in applications|upstreams|policy|sessions ...`. */
export const definition = commandGroup([
  named('applications', 'what people sign in to here', SIGN_IN_APPLICATION_COMMANDS),
  named('upstreams', 'the providers that say who somebody is', SIGN_IN_UPSTREAM_COMMANDS),
  named('policy', 'what is decided about sign-ins', SIGN_IN_POLICY_COMMANDS),
  named('sessions', 'what was granted', SIGN_IN_SESSION_COMMANDS),
])

function named(
  name: string,
  description: string,
  definitions: readonly CommandDefinition[],
): CommandDefinition {
  return (io) => commandGroup(definitions)(io).name(name).description(description)
}
