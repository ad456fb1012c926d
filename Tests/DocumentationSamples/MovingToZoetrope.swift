import Zoetrope

func samplesOfMoving() async throws {
  let status = await animateImage(
    at: "party.gif", options: AnimateImageOptions(startIndex: 2, loopCount: .finite(3))
  ) { index, bitmap, stop in
    show(bitmap, at: .zero)
    stop = index == 9
  }
  print(status)

  let image = try AnimatedImage(contentsOf: "party.gif")
  let reader = FrameReader(image)
  while let frame = try reader.next() {
    let small = try frame.bitmap.scaled(to: TargetSize(width: 128, height: 128), filter: .lanczos3)
    print(image.frames[frame.index].delay, small.size)
  }
}
