/**
 * The clouds of Entra: where their hints come from, and the one address to which answers go.
 * "External method provider reference", learn.microsoft.com.
 */
export const ENTRA_CLOUDS = {
  global: {
    authority: 'https://login.microsoftonline.com',
    redirectUri: 'https://login.microsoftonline.com/common/federation/externalauthprovider',
  },
  us_government: {
    authority: 'https://login.microsoftonline.us',
    redirectUri: 'https://login.microsoftonline.us/common/federation/externalauthprovider',
  },
  china: {
    authority: 'https://login.partner.microsoftonline.cn',
    redirectUri: 'https://login.partner.microsoftonline.cn/common/federation/externalauthprovider',
  },
} as const

type EntraCloud = keyof typeof ENTRA_CLOUDS

/** Where a cloud is; the operator of a test gives another place. */
export type EntraClouds = Readonly<
  Record<EntraCloud, { readonly authority: string; readonly redirectUri: string }>
>
