/* How devices join: the guide that waits for one, and the secrets. */
import { Page } from '../kit/page.tsx'
import { AddDevice } from './add-device.tsx'
import { EnrollmentSecrets } from './enrollment-secrets.tsx'
import { texts } from './texts.ts'

export function EnrollmentPage() {
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      above={[{ label: texts.settings, to: '/settings' }]}
    >
      <AddDevice />
      <EnrollmentSecrets />
    </Page>
  )
}
