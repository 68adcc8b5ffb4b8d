/* Where admins sign in. */
export const SIGN_IN_PATH = '/console/sign-in'

/** Whether a path is the sign-in, or below it; what is searched for may follow. */
export function isSignInPath(path: string): boolean {
  return /^\/console\/sign-in(?:[/?#]|$)/.test(path)
}
