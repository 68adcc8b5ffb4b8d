import type { IssuedSsfClient } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Facts } from '../kit/page.tsx'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { texts } from './texts.ts'

interface IssuedClientDialogProps {
  readonly issued: IssuedSsfClient | undefined
  readonly onClose: (client: IssuedSsfClient) => void
}

/** Shows the secret of a client once, with what it is used with. */
export function IssuedClientDialog({ issued, onClose }: IssuedClientDialogProps) {
  const secret = issued?.client_secret ?? null
  if (issued === undefined || secret === null) return null
  return (
    <IssuedSecretDialog
      title={texts.issuedTitle(issued.name)}
      secrets={[{ name: texts.secret, value: secret }]}
      onClose={() => onClose(issued)}
    >
      <p>{texts.issuedLead}</p>
      <Facts
        facts={[
          [texts.clientId, <Copyable key="id" value={issued.client_id} />],
          [texts.tokenEndpoint, <Copyable key="t" value={issued.token_endpoint} />],
        ]}
      />
    </IssuedSecretDialog>
  )
}
