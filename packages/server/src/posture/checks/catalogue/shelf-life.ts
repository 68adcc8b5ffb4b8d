/** For what a user changes on the spot: a sign-in right after the fix must see it. */
export const SHELF_LIFE_SETTING_SECONDS = 60 * 60

/** For what changes slowly, such as installed software and versions. */
export const SHELF_LIFE_SOFTWARE_SECONDS = 24 * 60 * 60
