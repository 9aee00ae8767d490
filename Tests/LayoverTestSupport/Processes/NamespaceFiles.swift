import Foundation
import Glibc

/// Files that a network namespace has in place of those in `/etc`: `ip netns exec` mounts what lies in
/// `/etc/netns/NAME` over them (ip-netns(8)).
package enum NamespaceFiles {
    private static let root = URL(fileURLWithPath: "/etc/netns")

    /// Has the programs that are started in the namespace from now on ask one name server, and no other source.
    package static func setNameServer(_ address: String, of namespace: String) throws {
        let folder = root.appendingPathComponent(namespace)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A silent server is given up after two seconds and not after ten (resolv.conf(5)).
        let text = "nameserver \(address)\noptions timeout:1 attempts:2\n"
        try Data(text.utf8).write(to: folder.appendingPathComponent("resolv.conf"))
        // The machine's own may ask a service that lives outside of the namespace. Where there is none, the C library
        // does by itself what this says, and there is nothing to mount over.
        guard FileManager.default.fileExists(atPath: "/etc/nsswitch.conf") else { return }
        try Data("hosts: files dns\n".utf8).write(to: folder.appendingPathComponent("nsswitch.conf"))
    }

    /// Removes what belongs to the namespace, and the folder of all namespaces if nothing else is in it.
    package static func remove(of namespace: String) {
        guard (try? FileManager.default.removeItem(at: root.appendingPathComponent(namespace))) != nil else { return }
        // Fails, as it should, while another namespace has files.
        rmdir(root.path)
    }
}
