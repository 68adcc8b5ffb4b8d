import type { InvitedAdminUser } from '../api/generated/types.gen.ts'
import { IssuedSecretDialog } from '../kit/secret.tsx'
import { Time } from '../kit/time.tsx'
import { nameOf } from './admin-state.tsx'
import { texts } from './texts.ts'

interface IssuedLinkDialogProps {
  /** The answer with the link; the dialog is open while there is one. */
  readonly issued: InvitedAdminUser | undefined
  readonly onClose: () => void
}

/** Shows the one-time link of an admin, once, and until when it is good. */
export function IssuedLinkDialog({ issued, onClose }: IssuedLinkDialogProps) {
  const name = issued === undefined ? '' : nameOf(issued)
  return (
    <IssuedSecretDialog
      title={texts.linkTitle(name)}
      secrets={issued === undefined ? [] : [{ name: texts.linkName, value: issued.sign_in_url }]}
      onClose={onClose}
    >
      {texts.linkHelp} <Time at={issued?.sign_in_url_expires_at} isExact />.
    </IssuedSecretDialog>
  )
}
