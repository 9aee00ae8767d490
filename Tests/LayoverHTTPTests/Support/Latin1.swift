/// The text as bytes, one for each scalar: `\u{FF}` is the byte 0xFF and `\0` is NUL.
func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}
