/// Values from small JSON texts.
enum JSONText {
    /// Nil when the text is malformed or there is no string, number or boolean at the keys.
    static func scalar(at keys: [String], in text: [UInt8]) -> String? {
        text.withUnsafeBytes { bytes in
            guard case .scalar(let value)? = try? JSONLookup.value(at: keys, in: bytes, depthMax: 32) else { return nil }
            return String(decoding: value, as: UTF8.self)
        }
    }
}
