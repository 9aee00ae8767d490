#if canImport(Glibc)
import Glibc
#endif

extension PrivateFile {
    /// The user and the group that a file belongs to.
    package struct Owner: Sendable, Hashable {
        package var user: UInt32
        package var group: UInt32

        package init(user: UInt32, group: UInt32) { (self.user, self.group) = (user, group) }
    }

    /// A complete new file beside the file that it is to replace.
    ///
    /// Its bytes are on disk. Its creator publishes it or removes it; `PrivateFile.write` does both steps.
    package struct Draft: Sendable {
        /// The draft's own path, in the folder of the target.
        package let path: String
        private let target: String
        private let isDurable: Bool

        /// Writes the draft and syncs it. The target stays as it is.
        ///
        /// - Parameters:
        ///   - target: The file to replace. It may be missing.
        ///   - mode: Permissions of the new file, whatever the umask is. Nil: the umask decides. Default: 0600.
        ///   - owner: Nil: the user of this process. Only root may name another user (chown(2)). Default: nil.
        ///   - writers: Default: `several`.
        ///   - isDurable: Whether the bytes, and later the name, are synced. Default: true.
        /// - Throws: `PrivateFileError`; no draft is left then. A `kind` error says that the target is no regular file.
        package init(
            _ bytes: [UInt8], for target: String, mode: UInt32? = 0o600, owner: Owner? = nil, writers: Writers = .several,
            isDurable: Bool = true
        ) throws(PrivateFileError) {
            try PrivateFile.checkTarget(target)
            let path = Self.path(for: target, writers)
            // O_EXCL refuses a link that somebody put there (open(2)). Only the owner has rights until the mode is set below.
            let flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW
            let file = PrivateFile.retried { Glibc.open(path, flags, mode == nil ? 0o666 : 0o600) }
            guard file >= 0 else { throw PrivateFileError(.create, path) }
            (self.path, self.target, self.isDurable) = (path, target, isDurable)
            do throws(PrivateFileError) {
                // After a sync that succeeded there is nothing left that close(2) could report.
                defer { Glibc.close(file) }
                try Self.fill(file, path, bytes, mode, owner)
                // A failed sync is not repeated: the kernel reports the lost bytes only once (fsync(2)).
                guard !isDurable || fsync(file) == 0 else { throw PrivateFileError(.sync, path) }
            } catch {
                unlink(path)
                throw error
            }
        }

        private static func path(for target: String, _ writers: Writers) -> String {
            switch writers {
            case .one:
                let path = "\(target).new"
                unlink(path)
                return path
            case .several:
                return "\(target).\(String(UInt32.random(in: .min ... .max), radix: 16)).new"
            }
        }

        private static func fill(
            _ file: CInt, _ path: String, _ bytes: [UInt8], _ mode: UInt32?, _ owner: Owner?
        ) throws(PrivateFileError) {
            let code = writeAll(bytes) { Glibc.write(file, $0.baseAddress, $0.count) }
            guard code == 0 else { throw PrivateFileError(.write, path, code: code) }
            var facts = stat()
            guard fstat(file, &facts) == 0 else { throw PrivateFileError(.write, path) }
            if let owner, owner != Owner(user: facts.st_uid, group: facts.st_gid), fchown(file, owner.user, owner.group) != 0 {
                throw PrivateFileError(.owner, path)
            }
            // The umask takes rights away (umask(2)). The owner is set before: chown(2) clears the set-user-ID bit.
            if let mode, facts.st_mode & 0o7777 != mode, fchmod(file, mode) != 0 { throw PrivateFileError(.mode, path) }
        }

        /// Calls write(2) until it has taken all bytes. One call may take fewer, or none if a signal interrupts it.
        ///
        /// - Returns: 0, or the errno of the call that failed. ENOSPC: a call took nothing and named no error.
        static func writeAll(_ bytes: [UInt8], by write: (UnsafeRawBufferPointer) -> Int) -> CInt {
            bytes.withUnsafeBytes { source in
                var done = 0
                while done < source.count {
                    let count = write(UnsafeRawBufferPointer(rebasing: source[done...]))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return count == 0 ? ENOSPC : errno }
                    done += count
                }
                return 0
            }
        }

        /// Puts the draft in the place of its target, and syncs the folder.
        ///
        /// - Throws: `PrivateFileError`. With `rename` the draft is removed and the target is as before. With `openFolder` or
        ///   `syncFolder` the draft has replaced the target, but a power cut may bring the old file back.
        package func publish() throws(PrivateFileError) {
            guard rename(path, target) == 0 else {
                let error = PrivateFileError(.rename, target)
                remove()
                throw error
            }
            if isDurable { try PrivateFolder.sync(PrivateFolder.of(target)) }
        }

        /// Removes the draft. The target stays as it is.
        package func remove() { unlink(path) }
    }
}
