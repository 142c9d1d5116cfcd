#include "textflag.h"

// AVX-512 tile kernels: c[r][0:32] += sum over k of a[r][k] * b[k][0:32] for
// r < 1 … 12. Row r of the tile accumulates in Z(2r) and Z(2r+1); Z24 and Z25
// hold the 32 columns of b at the current k, Z26 one element of a, repeated.
// R8, R9, R10 and R11 point at rows 0, 3, 6 and 9 of a, BX is a's stride: with
// the index forms of x86 that reaches all twelve rows.
//
// Every row sums in the same order whatever the height of its tile, so a
// text's vector does not depend on its place in a batch.

#define ROW(addr, lo, hi) \
	VBROADCASTSS addr, Z26; \
	VFMADD231PS  Z24, Z26, lo; \
	VFMADD231PS  Z25, Z26, hi

#define MUL1  ROW((R8), Z0, Z1)
#define MUL2  MUL1; ROW((R8)(BX*1), Z2, Z3)
#define MUL3  MUL2; ROW((R8)(BX*2), Z4, Z5)
#define MUL4  MUL3; ROW((R9), Z6, Z7)
#define MUL5  MUL4; ROW((R9)(BX*1), Z8, Z9)
#define MUL6  MUL5; ROW((R9)(BX*2), Z10, Z11)
#define MUL7  MUL6; ROW((R10), Z12, Z13)
#define MUL8  MUL7; ROW((R10)(BX*1), Z14, Z15)
#define MUL9  MUL8; ROW((R10)(BX*2), Z16, Z17)
#define MUL10 MUL9; ROW((R11), Z18, Z19)
#define MUL11 MUL10; ROW((R11)(BX*1), Z20, Z21)
#define MUL12 MUL11; ROW((R11)(BX*2), Z22, Z23)

// ADD adds a finished row to c and steps to the next row.
#define ADD(lo, hi) \
	VADDPS  (DI), lo, lo; \
	VADDPS  64(DI), hi, hi; \
	VMOVUPS lo, (DI); \
	VMOVUPS hi, 64(DI); \
	ADDQ    DX, DI

#define ADD1  ADD(Z0, Z1)
#define ADD2  ADD1; ADD(Z2, Z3)
#define ADD3  ADD2; ADD(Z4, Z5)
#define ADD4  ADD3; ADD(Z6, Z7)
#define ADD5  ADD4; ADD(Z8, Z9)
#define ADD6  ADD5; ADD(Z10, Z11)
#define ADD7  ADD6; ADD(Z12, Z13)
#define ADD8  ADD7; ADD(Z14, Z15)
#define ADD9  ADD8; ADD(Z16, Z17)
#define ADD10 ADD9; ADD(Z18, Z19)
#define ADD11 ADD10; ADD(Z20, Z21)
#define ADD12 ADD11; ADD(Z22, Z23)

#define ZERO2(lo, hi) \
	VPXORQ lo, lo, lo; \
	VPXORQ hi, hi, hi

#define BEGIN \
	MOVQ a+0(FP), R8; \
	MOVQ lda+8(FP), BX; \
	MOVQ b+16(FP), SI; \
	MOVQ k+24(FP), CX; \
	MOVQ c+32(FP), DI; \
	MOVQ ldc+40(FP), DX; \
	LEAQ (BX)(BX*2), AX; \
	LEAQ (R8)(AX*1), R9; \
	LEAQ (R9)(AX*1), R10; \
	LEAQ (R10)(AX*1), R11; \
	ZERO2(Z0, Z1); \
	ZERO2(Z2, Z3); \
	ZERO2(Z4, Z5); \
	ZERO2(Z6, Z7); \
	ZERO2(Z8, Z9); \
	ZERO2(Z10, Z11); \
	ZERO2(Z12, Z13); \
	ZERO2(Z14, Z15); \
	ZERO2(Z16, Z17); \
	ZERO2(Z18, Z19); \
	ZERO2(Z20, Z21); \
	ZERO2(Z22, Z23)

#define LOAD \
	VMOVUPS (SI), Z24; \
	VMOVUPS 64(SI), Z25

#define NEXT \
	ADDQ $4, R8; \
	ADDQ $4, R9; \
	ADDQ $4, R10; \
	ADDQ $4, R11; \
	ADDQ $128, SI; \
	DECQ CX

// func tile512x1(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x1(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL1
	NEXT
	JNZ loop
	ADD1
	VZEROUPPER
	RET

// func tile512x2(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x2(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL2
	NEXT
	JNZ loop
	ADD2
	VZEROUPPER
	RET

// func tile512x3(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x3(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL3
	NEXT
	JNZ loop
	ADD3
	VZEROUPPER
	RET

// func tile512x4(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x4(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL4
	NEXT
	JNZ loop
	ADD4
	VZEROUPPER
	RET

// func tile512x5(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x5(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL5
	NEXT
	JNZ loop
	ADD5
	VZEROUPPER
	RET

// func tile512x6(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x6(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL6
	NEXT
	JNZ loop
	ADD6
	VZEROUPPER
	RET

// func tile512x7(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x7(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL7
	NEXT
	JNZ loop
	ADD7
	VZEROUPPER
	RET

// func tile512x8(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x8(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL8
	NEXT
	JNZ loop
	ADD8
	VZEROUPPER
	RET

// func tile512x9(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x9(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL9
	NEXT
	JNZ loop
	ADD9
	VZEROUPPER
	RET

// func tile512x10(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x10(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL10
	NEXT
	JNZ loop
	ADD10
	VZEROUPPER
	RET

// func tile512x11(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x11(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL11
	NEXT
	JNZ loop
	ADD11
	VZEROUPPER
	RET

// func tile512x12(a *float32, lda int, b *float32, k int, c *float32, ldc int)
TEXT ·tile512x12(SB), NOSPLIT, $0-48
	BEGIN
loop:
	LOAD
	MUL12
	NEXT
	JNZ loop
	ADD12
	VZEROUPPER
	RET
