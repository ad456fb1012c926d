@main struct PlaybackTiming { static func main() {} }
