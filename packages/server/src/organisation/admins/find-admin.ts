/* What other folders may ask about admins. */
export { findAdminByEmail, findAdminForShare, type Admin } from './admin-store.ts'
