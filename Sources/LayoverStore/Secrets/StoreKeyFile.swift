import Glibc
import LayoverCrypto
import LayoverEngine
import LayoverText

/// The file `store.key` beside the database: a line for each key, its number and its 32 bytes in hexadecimal.
struct StoreKeyFile {
    let path: String

    /// The keys; nil if there is no file. A file that holds keys is for its owner alone from now on.
    func read() throws(StoreFailure) -> StoreKeys? {
        guard let bytes = try StoreFile.read(path) else { return nil }
        var keys: [Int: SymmetricKey] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[0]), number > 0, let key = Hexadecimal.bytes(words[1]),
                key.count == StoreKeys.keyByteCount
            else { throw StoreFailure(.other, "\(path) is not a Layover key file. Restore the right file.") }
            keys[number] = SymmetricKey(key)
        }
        guard let keys = StoreKeys(keys) else {
            throw StoreFailure(.other, "\(path) is empty. Restore the right key file.")
        }
        // Only now it is certain that this store owns it.
        PrivateFile.restrict(path)
        return keys
    }

    /// Replaces the file as a whole; it is on disk when this returns.
    func write(_ keys: StoreKeys) throws(StoreFailure) {
        var text = ""
        for (number, key) in keys.keys.sorted(by: { $0.key < $1.key }) {
            text += "\(number) \(key.withUnsafeBytes { Hexadecimal.text(of: $0) })\n"
        }
        try StoreFile.replace(path, with: Array(text.utf8))
    }
}
