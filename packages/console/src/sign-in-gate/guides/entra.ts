import { endpointsOf, type Guide } from './guide.ts'

/** Microsoft Entra ID, external MFA. */
export const entra: Guide = {
  id: 'entra',
  name: 'Microsoft Entra ID',
  lead: 'Entra asks for the first factor, then sends people here as its external MFA.',
  before:
    'Needs Entra ID P1 or better. People can choose another method of MFA that they have registered: take those away for whom the device must count. Guests of other tenants are not sent here. Begin in Entra: register an application and copy its two IDs.',
  kind: 'entra',
  mode: 'step_up',
  steps: ({ application }) => {
    const { discovery, authorize } = endpointsOf(application)
    return [
      {
        title: 'Complete the app registration',
        text: 'In the Entra admin centre open the app registration whose ID you entered. Under Authentication add the address below as a redirect URI of a web application. Under API permissions keep the delegated openid and profile, and grant admin consent.',
        values: [{ label: 'Redirect URI', value: authorize }],
      },
      {
        title: 'Add the external method',
        text: 'Open Protection > Authentication methods and choose "Add external method". Give it a name that people understand, such as "Device check", and enter these three.',
        values: [
          { label: 'Client ID', value: application.client_id },
          { label: 'Discovery endpoint', value: discovery },
          { label: 'App ID', value: application.entra_app_id ?? '' },
        ],
      },
      {
        title: 'Switch it on for a group',
        text: 'Under "Enable and target" include one group of people first. A conditional access policy that requires multifactor authentication then offers this method. Leave out your emergency accounts.',
      },
      {
        title: 'Mind the time',
        text: 'Entra drops a sign-in about ten minutes after it sent somebody here, and reads this address once a day. A change of signing keys is announced two days before.',
      },
    ]
  },
  comesBack:
    'An ID token with the sub of the hint of Entra, one acr (possessionorinherence) and one amr: pop for a device that was proven live, hwk for one with a hardware key.',
}
