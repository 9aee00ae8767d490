/// The bytes that have a meaning in HTTP/1 framing.
enum ASCII {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var quote: UInt8 { 0x22 }
    static var hash: UInt8 { 0x23 }
    static var parenthesisOpen: UInt8 { 0x28 }
    static var parenthesisClose: UInt8 { 0x29 }
    static var asterisk: UInt8 { 0x2A }
    static var comma: UInt8 { 0x2C }
    static var dot: UInt8 { 0x2E }
    static var slash: UInt8 { 0x2F }
    static var zero: UInt8 { 0x30 }
    static var colon: UInt8 { 0x3A }
    static var semicolon: UInt8 { 0x3B }
    static var equals: UInt8 { 0x3D }
    static var question: UInt8 { 0x3F }
    static var at: UInt8 { 0x40 }
    static var bracketOpen: UInt8 { 0x5B }
    static var backslash: UInt8 { 0x5C }
    static var bracketClose: UInt8 { 0x5D }
    static var delete: UInt8 { 0x7F }
}
